"""Players' tokens: which keys they are verified with, where these come from, and verifying.

`keys` is one key with its algorithm, `sources` are secrets, files and URLs that keys come from,
`fetching` asks a URL, and `verifying` puts them together. What a genuine token must say is for
`domain.trust.tokens`. PyJWT and cryptography come with the extra `tokens`.
"""
