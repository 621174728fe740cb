/**
 * Returns what a private key in PEM lacks if its white space was changed on the way from the file to the settings.
 * Returns an empty text for every other key.
 */
export function describeKeyFault(pem: string): string {
  const [, begin = '', body = '', end = ''] = pem.split('-----');
  if (!begin.startsWith('BEGIN ') || !end.startsWith('END')) return '';
  if (body.includes('\\n')) return ', with line ends instead of the characters \\n';
  if (/[^\S\r\n]/.test(body)) return ', with line ends instead of spaces';
  return /^\r?\n[\s\S]*\n$/.test(body) ? '' : ', with its line ends';
}
