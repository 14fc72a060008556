"""Study `noiseless`: a method at its epsilon beside the same method without noise."""
