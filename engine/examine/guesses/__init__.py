"""Can something missing be guessed? Labels and marked details of private records from the released text."""
