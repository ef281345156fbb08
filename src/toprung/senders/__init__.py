"""How requests leave for addresses that others named: a small client of HTTP that trusts nobody.

`addresses` says where requests may go, `resolving` what a name stands for, `connection` is one
connection, and `poster` keeps them.
"""
