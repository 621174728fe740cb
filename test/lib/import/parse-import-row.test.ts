import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { platforms } from '../../../lib/foundation/platform.ts';
import { hintColumns, importFormats } from '../../../lib/import/import-columns.ts';
import { parseImportRow } from '../../../lib/import/parse-import-row.ts';

describe('parseImportRow', () => {
  it('accepts neutral and brand names of platforms, and ids with and without prefix', () => {
    const rows = [
      { platform: 'store_b', token: 'abc', user: 'ann' },
      { platform: 'google', token: 'google:abc', user: 'ann' },
      { platform: ' Android-Playstore ', token: 'store_b:abc', user: 'ann' },
      { purchaseId: 'google:abc', entitledUsers: ['ann'] },
      { platform: 'google', purchaseId: 'google:abc:premium', productId: 'google:premium', user: 'ann' },
    ];
    const parsed = rows.map(parseImportRow);
    expect(parsed.map(({ platform, usernames, evidence }) => ({ platform, usernames, evidence }))).toEqual(
      rows.map(() => ({ platform: 'store_b', usernames: ['ann'], evidence: 'abc' })),
    );
  });

  it('accepts a row of GET /v3/purchases', () => {
    const row = {
      purchaseId: 'apple:1000',
      transactionId: 'apple:1001',
      productId: 'apple:monthly',
      platform: 'apple',
      sandbox: true,
      isExpired: false,
      expirationDate: '2026-01-01T00:00:00.000Z',
      entitledUsers: ['ann', 'bob'],
    };
    expect(parseImportRow(row)).toEqual({
      platform: 'store_a',
      usernames: ['ann', 'bob'],
      query: { refreshTokens: [{ originalTransactionId: '1000', environment: 'Sandbox' }] },
      evidence: '1000',
    });
  });

  it('reads usernames exactly, and treats empty values as absent', () => {
    expect(parseImportRow({ platform: 'store_b', token: ' abc ', user: ' ann ', receipt: '' })).toMatchObject({
      usernames: [' ann '],
      evidence: 'abc',
    });
    expect(parseImportRow({ platform: 'store_b', token: 'abc', user: null }).usernames).toEqual([]);
    expect(parseImportRow({ platform: 'store_b', token: 'abc', user: 42 }).usernames).toEqual(['42']);
  });

  it('reads the time of the claim', () => {
    const parse = (claimedAt: unknown) => parseImportRow({ platform: 'store_b', token: 'abc', claimedAt }).claimedAt;
    const time = Date.parse('2026-01-31T10:00:00Z');
    expect([parse('2026-01-31T10:00:00Z'), parse(time), parse(String(time))]).toEqual([time, time, time]);
    expect(() => parse('yesterday')).toThrow(/^claimedAt: expected a date-time/);
  });

  it('rejects any other row with a message without its values', () => {
    const secret = 'secret-of-the-customer';
    const arbitraryRow = fc.record(
      {
        platform: fc.constantFrom<unknown>('store_a', 'store_b', 'apple', secret, 1, undefined),
        user: fc.constantFrom<unknown>('ann', 1, {}, `${secret}\ud800`),
        token: fc.constantFrom<unknown>(secret, [secret], secret.repeat(1_000)),
        receipt: fc.constantFrom<unknown>(secret, { secret }),
        type: fc.constantFrom<unknown>('consumable', secret),
        claimedAt: fc.constantFrom<unknown>(secret, -1),
        originalTransactionId: fc.constantFrom<unknown>(secret, {}),
      },
      { requiredKeys: [] },
    );
    const property = fc.property(arbitraryRow, (row) => {
      try {
        parseImportRow(row);
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
        expect((error as ServiceError).code).toBe('InvalidPayload');
        expect((error as ServiceError).message).not.toContain(secret);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  it.each(platforms)('accepts each documented form of %s, and rejects a row with two', (platform) => {
    for (const { required } of importFormats[platform]) {
      const row = Object.fromEntries(required.map((column) => [column, 'value']));
      expect(parseImportRow({ platform, ...row })).toMatchObject({ platform, evidence: 'value' });
      expect(() => parseImportRow({ platform, ...row, receipt: 'a', token: 'b', originalTransactionId: 'c' })).toThrow(
        new RegExp(`^A row of ${platform} must have `),
      );
    }
  });

  it('agrees with the list in docs/guides/move-from-another-validator.md', () => {
    const documentation = readFileSync('docs/guides/move-from-another-validator.md', 'utf8');
    const rows = platforms.flatMap((platform) =>
      importFormats[platform].map(({ required, optional }) => [platform, required, optional] as const),
    );
    const toText = (columns: readonly string[]) => columns.map((column) => `\`${column}\``).join(', ');
    const documentedRows = documentation.match(/^- `(?:store_|processor_|service_)\w+`: [^:]*:/gm);
    expect(documentedRows).toEqual(
      rows.map(([platform, required, optional]) => {
        const optionalColumns = optional.length > 0 ? ` (${toText(optional)})` : '';
        return `- \`${platform}\`: ${toText(required)}${optionalColumns}:`;
      }),
    );
    for (const column of hintColumns) expect(documentation).toContain(`\`${column}\``);
  });
});
