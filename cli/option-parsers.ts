import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { DateOrDateTime, QueryDay } from '../lib/api/paging.ts';
import { CreditAmount, CreditName, Username } from '../lib/api/schemas.ts';
import { ApiKeyName, AppName } from '../lib/apps/app.ts';
import { type Platform, platforms, platformTokens } from '../lib/foundation/platform.ts';
import { parsePlatform } from '../lib/foundation/vocabulary.ts';

/**
 * Makes a parser of an option or argument from a schema. It throws `InvalidArgumentError`, to which commander adds the
 * option.
 */
const createParser =
  <Output>(schema: v.GenericSchema<unknown, Output>) =>
  (text: string): Output => {
    const result = v.safeParse(schema, text, { abortPipeEarly: true });
    if (result.success) return result.output;
    throw new InvalidArgumentError(`Expected ${result.issues[0].message}.`);
  };

/** Makes a parser of a number in a unit. */
export const createNumberParser = (unit: string, { min, max }: { min: number; max: number }) =>
  createParser(
    v.pipe(
      v.string(),
      v.regex(/^\d+(?:\.\d+)?$/, `a number of ${unit} from ${min} to ${max}`),
      v.transform(Number),
      v.check((number) => number >= min && number <= max, `a number of ${unit} from ${min} to ${max}`),
    ),
  );

/** Parses a day or a date-time as epoch milliseconds. */
export const parseTime = createParser(DateOrDateTime);

/** Parses a day such as `2026-01-31`. */
export const parseDay = createParser(QueryDay);

export const parseHours = createNumberParser('hours', { min: 0, max: 8_760 });

export const parseTokenMinutes = createNumberParser('minutes', { min: 5, max: 1_440 });

/** Parses a number of days of at most ten years, and of at least one minute. */
export const parseDays = createNumberParser('days', { min: 0.001, max: 3_650 });

const createWholeNumberParser = (min: number, max: number) =>
  createParser(
    v.pipe(
      v.string(),
      v.regex(/^\d+$/, `a whole number from ${min} to ${max}`),
      v.transform(Number),
      v.check((number) => number >= min && number <= max, `a whole number from ${min} to ${max}`),
    ),
  );

export const parseRowLimit = createWholeNumberParser(1, 10_000);

/** Parses a number of rows to skip. */
export const parseRowCount = createWholeNumberParser(0, 999_999_999);

export const parseSeconds = createNumberParser('seconds', { min: 1, max: 3_600 });

export const parseAppName = createParser(AppName);

export const parseKeyName = createParser(ApiKeyName);

export const parseCreditName = createParser(CreditName);

/** Parses a number of units of a credit. */
export const parseCreditAmount = createParser(
  v.pipe(
    v.string(),
    v.transform(Number),
    v.check((units) => v.is(CreditAmount, units), 'a whole number from 1 to 1000000000'),
  ),
);

export function parseUsername(text: string): string {
  if (v.is(Username, text)) return text;
  throw new InvalidArgumentError('Expected a username of 1 to 900 bytes.');
}

/** Finds the store of its token or of its brand name. */
export const findStore = (text: string): Platform | undefined =>
  text.trim().toLowerCase() === 'microsoft' ? platformTokens.microsoftStore : parsePlatform(text);

/** Parses a store: its token, such as `store_a`, or its brand name, such as `apple`. */
export function parseStore(text: string): Platform {
  const platform = findStore(text);
  if (platform) return platform;
  throw new InvalidArgumentError(
    `Expected ${platforms.join(', ')}, or apple, google, microsoft, stripe, iaptic, braintree.`,
  );
}
