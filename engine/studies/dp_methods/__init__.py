"""Study `dp-methods`: which method with a formal guarantee is worth its budget, by number of records and ε."""
