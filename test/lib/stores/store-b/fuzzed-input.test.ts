import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { storeB } from '../../../../lib/stores/store-b/store-b.ts';
import { askingGoogle, request } from './fake-google.ts';

const codes = ['InvalidPayload', 'ConnectionFailed', 'InternalError'];

/** What a validation comes to: a result, or the code of its error; any other error fails the test. */
async function outcomeOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'ok';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code;
  }
}

it('no transaction that a client sends does anything but be refused', async () => {
  const fields = fc.record(
    { purchaseToken: fc.anything(), receipt: fc.anything(), signature: fc.anything() },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fields, async (transaction) => {
      const body = { ...request(), transaction: transaction as { type?: string } };
      expect(['ok', ...codes]).toContain(await outcomeOf(() => storeB.validate(body, askingGoogle({}))));
    }),
    { numRuns: 300 },
  );
});

it('no answer of the store makes a purchase, or anything but an error that says who is at fault', async () => {
  const garbage = fc.record({
    status: fc.constantFrom(200, 204, 302, 400, 401, 403, 404, 409, 410, 429, 500, 503),
    text: fc.oneof(fc.string(), fc.json(), fc.constant('<html></html>')),
  });
  await fc.assert(
    fc.asyncProperty(garbage, async (response) => {
      expect(codes).toContain(await outcomeOf(() => storeB.validate(request(), askingGoogle({ garbage: response }))));
    }),
    { numRuns: 300 },
  );
});
