"""Two systems or several on the same examples: differences with intervals, tests, power, churn, seeds."""
