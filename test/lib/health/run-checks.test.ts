import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { parse } from '../../../lib/foundation/parse.ts';
import { runChecks } from '../../../lib/health/run-checks.ts';

const run = async (...errors: readonly Error[]) => {
  const checks = errors.map((error, index) => ({ name: `check ${index}`, run: async () => Promise.reject(error) }));
  return (await runChecks(checks, { timeoutMs: 10_000 })).findings;
};

const databaseError = (cause: unknown) => new ServiceError('DatabaseError', 'The database is unavailable.', { cause });

describe('runChecks', () => {
  it('reports one error for a table that does not respond', async () => {
    const error = databaseError(new Error('connect ECONNREFUSED'));
    expect(await run(error, error)).toMatchObject([
      { code: 'table-unavailable', severity: 'error', problem: expect.stringContaining('ECONNREFUSED') },
    ]);
  });

  it('reports an item that is not readable as such, and not as an unavailable table', async () => {
    const read = () => parse(v.object({ state: v.string() }), { state: 7 }, 'DatabaseError');
    const { findings } = await runChecks([{ name: 'webhooks', app: 'a', run: async () => read() && [] }], {
      timeoutMs: 10_000,
    });
    expect(findings).toMatchObject([
      { code: 'check-failed', app: 'a', problem: expect.stringContaining('state: expected a string') },
    ]);
  });

  it('reports a denied read and any other failure as a check that was not made', async () => {
    const denied = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
    expect(await run(databaseError(denied), new Error('no answer'))).toMatchObject([
      { code: 'check-failed', severity: 'warning', cure: expect.stringContaining('OperatorPolicyArn') },
      { code: 'check-failed', severity: 'warning' },
    ]);
  });
});
