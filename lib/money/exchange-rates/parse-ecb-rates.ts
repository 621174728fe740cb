import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { CurrencyCode, DailyRates } from '../daily-rates.ts';

const space = '\\s*';
const buildQuotedPattern = (content: string): string => `(?:"${content}"|'${content}')`;
const envelope = new RegExp(
  `^\\uFEFF?(?:<\\?xml[^<>]*\\?>)?${space}<gesmes:Envelope[^<>]*>${space}` +
    `<gesmes:subject>[^<>]*</gesmes:subject>${space}` +
    `<gesmes:Sender>${space}<gesmes:name>[^<>]*</gesmes:name>${space}</gesmes:Sender>${space}` +
    `<Cube>([\\s\\S]*)</Cube>${space}</gesmes:Envelope>${space}$`,
);
const dayCube = new RegExp(`${space}<Cube time=${buildQuotedPattern('([^"\'<>]*)')}>([\\s\\S]*?)</Cube>${space}`, 'y');
const rateCube = new RegExp(
  `${space}<Cube currency=${buildQuotedPattern('([^"\'<>]*)')} rate=${buildQuotedPattern('([^"\'<>]*)')}${space}/>${space}`,
  'y',
);

/**
 * The days of a file of the European Central Bank's euro foreign exchange reference rates. Reads exactly what its files
 * consist of; throws `ConnectionFailed` for anything else, as a part of an answer is no answer.
 */
export function parseEcbRates(xml: string): DailyRates[] {
  const content = envelope.exec(xml)?.[1];
  if (content === undefined) throw unreadableError('not a file of reference rates');
  const days = matchWhole(dayCube, content).map(([date = '', cubes = '']) => parseDay(date, cubes));
  if (days.length === 0) throw unreadableError('no day');
  if (new Set(days.map(({ date }) => date)).size < days.length) throw unreadableError('a day told twice');
  return days;
}

function parseDay(date: string, cubes: string): DailyRates {
  const rates = matchWhole(rateCube, cubes).map(([currency = '', rate = '']) => [currency, rate] as const);
  const perEuro = Object.fromEntries(rates);
  if (Object.keys(perEuro).length < rates.length) throw unreadableError('a currency told twice');
  if (!Object.keys(perEuro).every((currency) => v.is(CurrencyCode, currency)))
    throw unreadableError('no currency code');
  const day = { date, perEuro };
  if (!v.is(DailyRates, day) || !isExistingDay(date)) throw unreadableError('a date or rate that is none');
  return day;
}

/** The groups of all matches of a sticky expression, which together must be the whole text. */
function matchWhole(expression: RegExp, text: string): string[][] {
  const matches: string[][] = [];
  expression.lastIndex = 0;
  for (let end = 0; end < text.length; end = expression.lastIndex) {
    const match = expression.exec(text);
    if (!match) {
      if (text.slice(end).trim() === '') break;
      throw unreadableError('an element that is not expected');
    }
    matches.push(match.slice(1).filter((group) => group !== undefined));
  }
  return matches;
}

const isExistingDay = (date: string): boolean =>
  !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date);

const unreadableError = (cause: string): ServiceError =>
  new ServiceError('ConnectionFailed', 'The exchange rates could not be read.', { cause });
