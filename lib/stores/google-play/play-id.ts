const maxLength = 800;
const visibleAscii = /^[\x21-\x7e]+$/;

/** A purchase token, order id or product id, safe as a segment of a URL path. */
export const isPlayId = (text: string): boolean =>
  text.length <= maxLength && visibleAscii.test(text) && text !== '.' && text !== '..';
