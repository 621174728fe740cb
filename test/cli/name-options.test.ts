import { describe, expect, it } from '@jest/globals';
import { findCommand } from '../../cli/command-tree.ts';
import { nameOptions } from '../../cli/name-options.ts';
import { createProgram } from '../../cli/program.ts';

const program = createProgram({
  writeOut: () => {},
  writeErr: () => {},
  getOutHelpWidth: () => 80,
  getErrHelpWidth: () => 80,
});

describe('nameOptions', () => {
  it.each([
    ['refunds answer', 'customerConsented must be true: the App Store', '--consented must be true: the App Store'],
    ['refunds answer', 'consumptionPercentage must be 0: the App Store', '--used must be 0: the App Store'],
    ['purchases act', 'days: expected 1 to 90.', '--days: expected 1 to 90.'],
    ['purchases act', 'account is missing: the username', '--account is missing: the username'],
    ['purchases act', 'amountMicros and quantity: expected', '--amount-micros and --quantity: expected'],
    ['grant create', 'until: expected a date in the future.', '--until: expected a date in the future.'],
    ['webhooks replay', 'enddate must not be in the future.', '--to must not be in the future.'],
  ])('names the options of %s in %j', (path, message, expected) => {
    expect(nameOptions(message, findCommand(program, path.split(' ')))).toBe(expected);
  });

  it.each([
    ['purchases act', 'The purchase store_a:1 is not found.'],
    ['purchases act', 'The transaction is not found.'],
    ['grant create', 'entitlement: expected the name of an entitlement.'],
  ])('keeps the other words of an error of %s: %j', (path, message) => {
    expect(nameOptions(message, findCommand(program, path.split(' ')))).toBe(message);
  });
});
