import * as v from 'valibot';
import { ServiceError } from '../errors.ts';
import { CurrencyCode, DayRates } from '../money/day-rates.ts';

const space = '\\s*';
const quoted = (content: string): string => `(?:"${content}"|'${content}')`;
const envelope = new RegExp(
  `^\\uFEFF?(?:<\\?xml[^<>]*\\?>)?${space}<gesmes:Envelope[^<>]*>${space}` +
    `<gesmes:subject>[^<>]*</gesmes:subject>${space}` +
    `<gesmes:Sender>${space}<gesmes:name>[^<>]*</gesmes:name>${space}</gesmes:Sender>${space}` +
    `<Cube>([\\s\\S]*)</Cube>${space}</gesmes:Envelope>${space}$`,
);
const dayCube = new RegExp(`${space}<Cube time=${quoted('([^"\'<>]*)')}>([\\s\\S]*?)</Cube>${space}`, 'y');
const rateCube = new RegExp(
  `${space}<Cube currency=${quoted('([^"\'<>]*)')} rate=${quoted('([^"\'<>]*)')}${space}/>${space}`,
  'y',
);

/**
 * The days of a file of the European Central Bank's euro foreign exchange reference rates. Reads exactly what its files
 * consist of; throws `ConnectionFailed` for anything else, as a part of an answer is no answer.
 */
export function readReferenceRates(xml: string): DayRates[] {
  const content = envelope.exec(xml)?.[1];
  if (content === undefined) throw unreadable('not a file of reference rates');
  const days = allMatches(dayCube, content).map(([date = '', cubes = '']) => dayRates(date, cubes));
  if (days.length === 0) throw unreadable('no day');
  if (new Set(days.map(({ date }) => date)).size < days.length) throw unreadable('a day told twice');
  return days;
}

function dayRates(date: string, cubes: string): DayRates {
  const rates = allMatches(rateCube, cubes).map(([currency = '', rate = '']) => [currency, rate] as const);
  const perEuro = Object.fromEntries(rates);
  if (Object.keys(perEuro).length < rates.length) throw unreadable('a currency told twice');
  if (!Object.keys(perEuro).every((currency) => v.is(CurrencyCode, currency))) throw unreadable('no currency code');
  const day = { date, perEuro };
  if (!v.is(DayRates, day) || !isOnCalendar(date)) throw unreadable('a date or rate that is none');
  return day;
}

/** The groups of all matches of a sticky expression, which together must be the whole text. */
function allMatches(expression: RegExp, text: string): string[][] {
  const matches: string[][] = [];
  expression.lastIndex = 0;
  for (let end = 0; end < text.length; end = expression.lastIndex) {
    const match = expression.exec(text);
    if (!match) {
      if (text.slice(end).trim() === '') break;
      throw unreadable('an element that is not expected');
    }
    matches.push(match.slice(1).filter((group) => group !== undefined));
  }
  return matches;
}

const isOnCalendar = (date: string): boolean =>
  !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date);

const unreadable = (cause: string): ServiceError =>
  new ServiceError('ConnectionFailed', 'The exchange rates could not be read.', { cause });
