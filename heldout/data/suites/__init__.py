"""Suites of cases whose gold is known by construction; SOURCE `suite:NAME` reads one."""
