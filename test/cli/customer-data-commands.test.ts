import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPartialError, writeFileAtomically } from '../../cli/customer-data-commands.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';

const noCounts = {
  purchases: 0,
  aliases: 0,
  unclaimedPurchases: 0,
  vaultReferences: 0,
  accessTokens: 0,
  deliveries: 0,
  events: 0,
  customerItems: 0,
};
const failure = new ServiceError('Conflict', 'The user is still using the app.');

describe('toPartialError', () => {
  it('adds what was removed before the failure, as text and as data', () => {
    const removed = { ...noCounts, purchases: 2, events: 1 };
    expect(toPartialError(failure, removed)).toMatchObject({
      code: 'Conflict',
      message: `The user is still using the app.
Removed until then:
2 purchases without the customer now
1 event without the customer now`,
      data: { removed },
    });
  });

  it.each([[undefined], [noCounts]])(
    'does not change the failure of an erasure that removed nothing: %j',
    (removed) => {
      expect(toPartialError(failure, removed)).toBe(failure);
    },
  );
});

describe('writeFileAtomically', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
    writeFileSync(join(folder, 'notes.txt'), 'notes');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function* failAfterStart() {
    yield '{';
    throw new ServiceError('DatabaseError', 'The database is unavailable.');
  }

  it('throws the failure of the content, and leaves no file', async () => {
    await expect(writeFileAtomically(join(folder, 'ann.json'), failAfterStart())).rejects.toThrow(
      'The database is unavailable.',
    );
    expect(readdirSync(folder)).toEqual(['notes.txt']);
  });

  it('names a file that cannot be written', async () => {
    const file = join(folder, 'notes.txt', 'ann.json');
    async function* content() {
      yield '{}';
    }
    await expect(writeFileAtomically(file, content())).rejects.toThrow(
      `${file} is not found: a part of its path is a file.`,
    );
  });
});
