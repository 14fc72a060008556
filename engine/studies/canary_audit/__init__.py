"""Study `canary-audit`: canaries planted by fair coins, and lower bounds on epsilon from what comes out."""
