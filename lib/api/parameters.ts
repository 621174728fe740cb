/** Descriptions of parameters that several operations have. */

export const applicationUsername = ["The customer's username in your app, 1 to 900 bytes of UTF-8.", 'alice'] as const;

export const purchaseId = [
  'Purchase id with its platform prefix. Brand prefixes such as `apple:` are accepted, too.',
  'store_a:2000000123456789',
] as const;

export const pagingParameters = {
  limit: ['Maximum number of rows. A value above 1,000 is reduced to 1,000. The default is 100.', 100],
  skip: ['Number of rows to skip. The default is 0.', 0],
  offset: ['The same as `skip`, which takes precedence.', 0],
} as const;

export const transactionPagingParameters = {
  ...pagingParameters,
  limit: ['Maximum number of transactions. A value above 1,000 is reduced to 1,000. The default is 500.', 500],
} as const;

export const cursorParameters = {
  limit: ['Maximum number of rows.', 50],
  cursor: ['The `nextCursor` of the previous page. Absent for the first page.', 'MTc2NzI2ODgwMDAwMCMwMUtEWFo4'],
} as const;

/** Parameters of a list that is read by position, or by cursor in either order. */
export const orderParameters = {
  order: ['`newest` reads the list by cursor from its end. The default is `oldest`.', 'newest'],
  cursor: cursorParameters.cursor,
} as const;

/** Sentence of an operation whose filters read a list by cursor. */
export const filterNote =
  'With a filter, `order` or `cursor`, the list is read by cursor, `skip` is ignored, and `paging.total` is the number of ' +
  'returned rows. One request reads about 1,000 rows at most, so a page can have few rows or none and still have a ' +
  '`nextCursor`.';

export const nextCursor = [
  'Cursor of the next page. Absent at the end of the list, and in a list that is read by position.',
  'MTc2NzI2ODgwMDAwMCMwMUtEWFo4',
] as const;

export const dayRange = {
  startdate: ['First day of the range (UTC).', '2026-01-01'],
  enddate: ['Last day of the range (UTC).', '2026-01-31'],
} as const;

export const sandboxOnly = [
  "`true` counts the purchases of the stores' sandboxes only, with their amounts, and no requests. The default is `false`.",
  'true',
] as const;

export const includeNotifications = [
  'The response includes the lifecycle notifications. Only `true` includes them.',
  true,
] as const;

export const webhookPassword = [
  'Secret key of the app. Absent if the app excludes it; verify the signature instead.',
  'sec_E5DTy1Pkr4SO1VZpQ6VrrVAt6OrAIKmOLg5vKEeZv4',
] as const;
