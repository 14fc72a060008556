"""Study `epsilon-sweep`: methods at several epsilons, several times each, between no private text and no noise."""
