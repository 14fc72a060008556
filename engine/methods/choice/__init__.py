"""One of several runs, chosen by noisy points of private records."""
