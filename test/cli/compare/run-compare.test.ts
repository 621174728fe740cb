import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isProof } from '../../../cli/compare/is-proof.ts';
import { type CompareOptions, runCompare } from '../../../cli/compare/run-compare.ts';
import type { Validator } from '../../../cli/compare/validator.ts';
import type { ValidatorResult } from '../../../cli/compare/validator-result.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';

const empty: ValidatorResult = { isOk: true, purchases: [] };
const body = { id: 'premium', type: 'consumable', transaction: { type: 'android-playstore' } };
const charge = { ...body, transaction: { type: 'braintree', paymentMethodNonce: 'nonce' } };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'claimcheck-run-compare-'));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** A validator that returns the same result for each request. */
const createFakeValidator = (validate: () => Promise<ValidatorResult> = async () => empty): Validator => ({
  title: 'A validator',
  validate,
  listPurchases: validate,
});

async function compareRows(rows: readonly object[], options: Partial<CompareOptions> = {}) {
  const path = join(folder, 'rows.jsonl');
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return await runCompare({
    path,
    here: createFakeValidator(),
    there: createFakeValidator(),
    comparesUsers: false,
    vocabulary: 'neutral',
    includesUser: true,
    toleranceMs: 0,
    rate: 1_000,
    isErased: async () => false,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...options,
  });
}

describe('runCompare', () => {
  it('returns a proof if all rows are compared, except validations that charge the customer', async () => {
    const report = await compareRows([body, charge]);
    expect(report).toMatchObject({
      rows: 2,
      compared: 1,
      equal: 1,
      notCompared: [{ line: 2, reason: expect.stringMatching(/charges the customer/), isExcluded: true }],
    });
    expect(isProof(report)).toBe(true);
  });

  it('reports the rows, the differences and the position in the file', async () => {
    const reported: object[] = [];
    const other = createFakeValidator(async () => ({ isOk: false, purchases: [], reason: 'expired' }));
    await compareRows([body, charge], { there: other, onProgress: (progress) => reported.push(progress) });
    const lengths = [body, charge].map((row) => JSON.stringify(row).length + 1);
    expect(reported).toEqual([
      { rows: 1, differences: 1, bytesDone: lengths[0] },
      { rows: 2, differences: 1, bytesDone: (lengths[0] ?? 0) + (lengths[1] ?? 0) },
    ]);
  });

  it('returns no proof if a validator rejects the key', async () => {
    const there = createFakeValidator(async () => {
      throw new ServiceError('Forbidden', 'The other validator rejected the app or its key: Forbidden');
    });
    const report = await compareRows([body, body], { there });
    expect(report).toMatchObject({ rows: 2, compared: 0, differences: [] });
    expect(isProof(report)).toBe(false);
  });

  it('returns no proof if one row is not compared', async () => {
    expect(isProof(await compareRows([body, { platform: 'store_a', originalTransactionId: '1' }]))).toBe(false);
  });

  it.each([[[]], [[charge]]])('returns no proof if nothing was compared: %j', async (rows) => {
    expect(isProof(await compareRows(rows))).toBe(false);
  });

  it('compares each entitled user of GET /v3/purchases once', async () => {
    const users: string[] = [];
    const here = createFakeValidator();
    const listPurchases = async (user: string) => {
      users.push(user);
      return empty;
    };
    const there = { ...here, listPurchases };
    const rows = [
      { purchaseId: 'google:1', entitledUsers: ['ann', 'bob'] },
      { purchaseId: 'google:2', entitledUsers: ['bob'] },
      { purchaseId: 'google:3', entitledUsers: [] },
      { user: 'cyd' },
      { ...body, additionalData: { applicationUsername: 'dan' } },
    ];
    const report = await compareRows(rows, { here, there, comparesUsers: true });
    expect(users).toEqual(['ann', 'bob', 'cyd', 'dan']);
    expect(report).toMatchObject({
      rows: 5,
      compared: 4,
      equal: 4,
      differences: [],
      notCompared: [{ line: 3, reason: 'The purchase has no user.', isExcluded: true }],
    });
    expect(isProof(report)).toBe(true);
  });

  it('returns no proof if a row of users names none', async () => {
    const report = await compareRows([{ user: 'ann' }, { name: 'bob' }], { comparesUsers: true });
    expect(report).toMatchObject({ compared: 1, notCompared: [{ line: 2, reason: 'user is missing.' }] });
    expect(isProof(report)).toBe(false);
  });

  it.each([
    [false, { ...body, additionalData: { applicationUsername: 'ann' } }],
    [true, { user: 'ann' }],
  ])('sends no request for an erased user (users: %j)', async (comparesUsers, row) => {
    const validator = createFakeValidator(async () => {
      throw new Error('requested');
    });
    const isErased = async (user: string) => user === 'ann';
    const options = { comparesUsers, isErased, here: validator, there: validator };
    expect(await compareRows([row], options)).toMatchObject({
      notCompared: [{ line: 1, reason: 'The user was erased on request.', isExcluded: true }],
    });
  });

  it('compares the validation of an erased user without the user', async () => {
    const row = { ...body, additionalData: { applicationUsername: 'ann' } };
    expect(await compareRows([row], { isErased: async () => true, includesUser: false })).toMatchObject({ equal: 1 });
  });

  it('reports an interruption, which is no proof', async () => {
    const controller = new AbortController();
    const report = await compareRows(
      Array.from({ length: 100 }, () => body),
      { signal: controller.signal, onProgress: ({ rows }) => rows === 3 && controller.abort() },
    );
    expect(report).toMatchObject({ interrupted: true, differences: [], notCompared: [] });
    expect(report.rows).toBeLessThan(20);
    expect(isProof(report)).toBe(false);
  });
});
