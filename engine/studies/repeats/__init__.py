"""Study `repeats`: two settings run several times, and whether their difference is more than chance."""
