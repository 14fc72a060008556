"""RPSG, as published (`method`, `run`: no bound for its output) and repaired with public candidates (`public`)."""
