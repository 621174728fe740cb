/** Prefixes of the API keys by their level. Their redaction follows from this table. */
export const apiKeyPrefixes = { public: 'pub', secret: 'sec', viewer: 'view', support: 'sup' } as const;

/** Prefix of the access tokens of checkouts. */
export const accessTokenPrefix = 'ak';
