"""Study `nll-filter`: attacks with and without the likelihood filter of RPSG."""
