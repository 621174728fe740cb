const maxLength = 800;
const visibleAscii = /^[\x21-\x7e]+$/;

/** Whether the text can be a purchase token, order id or product id, and is safe as a segment of a URL path. */
export const isPlayId = (text: string): boolean =>
  text.length <= maxLength && visibleAscii.test(text) && text !== '.' && text !== '..';
