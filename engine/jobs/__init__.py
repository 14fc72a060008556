"""Queue, worker and the composition of runs with their examinations."""
