"""Statistics: intervals, bands of distribution functions, ROC curves, power laws, many looks at once."""
