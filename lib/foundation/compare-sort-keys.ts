/**
 * Compares two sort keys in the order of DynamoDB, which is the order of their bytes in UTF-8. The order of JavaScript
 * differs for characters outside the basic plane, such as emoji.
 */
export function compareSortKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [unitOfA, unitOfB] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (unitOfA !== unitOfB) return toByteRank(unitOfA) - toByteRank(unitOfB);
  }
  return a.length - b.length;
}

/** Ranks surrogates after all other code units: UTF-8 encodes them in four bytes, others in at most three. */
const toByteRank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);
