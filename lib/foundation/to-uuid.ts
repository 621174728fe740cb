/** Formats the first 32 digits of a digest in hex as a UUID. Its version and variant replace two of the digits. */
export const toUuid = (hex: string, version: 3 | 4 | 8): string =>
  [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `${version}${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
