import * as v from 'valibot';

const decimal = '(?:0|[1-9]\\d{0,9})(?:\\.\\d{1,8})?';

/** A positive decimal number, in the format of the European Central Bank's rates. */
export const PositiveDecimal = v.pipe(v.string(), v.regex(new RegExp(`^(?=.*[1-9])${decimal}$`)));

/** A calendar day such as `2024-12-31`. */
export const IsoDay = v.pipe(v.string(), v.isoDate());

/** US dollars for one unit of a currency: the fraction of the two rates per euro, such as `1.0389/163.06`. */
export const UsdRate = v.pipe(v.string(), v.regex(new RegExp(`^(?=[^/]*[1-9])${decimal}/(?=[^/]*[1-9])${decimal}$`)));

/** Returns a rate as a fraction of whole numbers. */
export function parseFraction(usdRate: string): readonly [numerator: bigint, denominator: bigint] {
  const [dollars = '', units = ''] = usdRate.split('/');
  const scale = Math.max(countDecimals(dollars), countDecimals(units));
  return [toScaledInteger(dollars, scale), toScaledInteger(units, scale)];
}

const countDecimals = (number: string): number => number.split('.')[1]?.length ?? 0;

/** Multiplies a decimal number by ten to the `scale`: `1.5` with scale 3 is 1500. */
const toScaledInteger = (number: string, scale: number): bigint =>
  BigInt(number.replace('.', '') + '0'.repeat(scale - countDecimals(number)));
