"""Plotly figures from findings."""
