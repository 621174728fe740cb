import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { googlePlay } from '../../../../lib/stores/google-play/google-play.ts';
import { sampleRuns } from '../../../../testing/sample.ts';
import { createGoogleContext, createRequest } from './fake-google.ts';

const codes = ['InvalidPayload', 'ConnectionFailed', 'InternalError'];

/** Returns `ok` or the code of a ServiceError. Throws other errors. */
async function getOutcome(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'ok';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code;
  }
}

describe('validate (Google Play)', () => {
  it('returns a result or a documented error for any transaction', async () => {
    const fields = fc.record(
      { purchaseToken: fc.anything(), receipt: fc.anything(), signature: fc.anything() },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fields, async (transaction) => {
        const body = { ...createRequest(), transaction: transaction as { type?: string } };
        expect(['ok', ...codes]).toContain(await getOutcome(() => googlePlay.validate(body, createGoogleContext({}))));
      }),
      sampleRuns({ sample: 60, full: 600 }),
    );
  });

  it('throws a documented error for any malformed response of Google', async () => {
    const garbage = fc.record({
      status: fc.constantFrom(200, 204, 302, 400, 401, 403, 404, 409, 410, 429, 500, 503),
      text: fc.oneof(fc.string(), fc.json(), fc.constant('<html></html>')),
    });
    await fc.assert(
      fc.asyncProperty(garbage, async (response) => {
        const context = createGoogleContext({ garbage: response });
        expect(codes).toContain(await getOutcome(() => googlePlay.validate(createRequest(), context)));
      }),
      sampleRuns({ sample: 60, full: 600 }),
    );
  });
});
