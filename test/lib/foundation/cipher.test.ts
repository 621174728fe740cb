import { describe, expect, it } from '@jest/globals';
import { createCipher } from '../../../lib/foundation/cipher.ts';
import { minuteMs } from '../../../lib/foundation/time.ts';

const context = 'app/secret-key';

/** A Secrets Manager with a master secret and a clock that tests can change. */
function createFakeSecretsManager(secret: string) {
  const state = { secret, now: 0, fetches: 0, isUnavailable: false };
  const fetch = async () => {
    state.fetches += 1;
    if (state.isUnavailable) throw new Error('Secrets Manager is unavailable');
    return state.secret;
  };
  return Object.assign(state, { createCipher: () => createCipher(fetch, () => state.now) });
}

const getKeyId = (ciphertext: string) => ciphertext.split('.')[0];
const encryptUnder = async (secret: string) =>
  await createFakeSecretsManager(secret).createCipher().encrypt('a credential', context);
const undecryptable = { code: 'InternalError', message: 'A stored secret cannot be decrypted.' };

describe('createCipher', () => {
  it('decrypts a ciphertext only with its context', async () => {
    const cipher = createFakeSecretsManager('one').createCipher();
    const ciphertext = await cipher.encrypt('a credential', context);
    expect(ciphertext).not.toContain('credential');
    expect(await cipher.decrypt(ciphertext, context)).toBe('a credential');
    await expect(cipher.decrypt(ciphertext, 'other/secret-key')).rejects.toThrow();
  });

  it('decrypts a ciphertext of an earlier release', async () => {
    const ciphertext = '53c35db0.PXpXtPFAlEFE-wPW.uHCZ9cFTYifRdsXDqxbOpQ.BPqSrmEzpTJIwFG_';
    expect(await createFakeSecretsManager('one').createCipher().decrypt(ciphertext, context)).toBe('a credential');
  });

  it('decrypts old ciphertexts after a rotation and encrypts under the new key', async () => {
    const old = await encryptUnder('one');
    const rotated = createFakeSecretsManager('two one').createCipher();
    expect(await rotated.decrypt(old, context)).toBe('a credential');
    const fresh = await rotated.encrypt('a credential', context);
    expect(getKeyId(fresh)).toBe(getKeyId(await encryptUnder('two')));
    expect(getKeyId(fresh)).not.toBe(getKeyId(old));
  });

  it.each(['two one', ' two\none\n', 'two\t \r\none'])('accepts any white space between keys: %j', async (secret) => {
    const cipher = createFakeSecretsManager(secret).createCipher();
    expect(getKeyId(await cipher.encrypt('a credential', context))).toBe(getKeyId(await encryptUnder('two')));
    expect(await cipher.decrypt(await encryptUnder('one'), context)).toBe('a credential');
  });

  it('fetches the secret once more for a ciphertext of a new key, then encrypts under that key', async () => {
    const service = createFakeSecretsManager('one');
    const running = service.createCipher();
    await running.encrypt('warm', context);
    service.secret = 'two one';
    const fresh = await encryptUnder('two');
    expect(await running.decrypt(fresh, context)).toBe('a credential');
    expect(await running.decrypt(fresh, context)).toBe('a credential');
    expect(service.fetches).toBe(2);
    expect(getKeyId(await running.encrypt('warm', context))).toBe(getKeyId(fresh));
  });

  it('fetches at most once a minute for ciphertexts of an unknown key', async () => {
    const service = createFakeSecretsManager('one');
    const cipher = service.createCipher();
    const lost = await encryptUnder('lost');
    for (let attempt = 0; attempt < 5; attempt++)
      await expect(cipher.decrypt(lost, context)).rejects.toMatchObject(undecryptable);
    expect(service.fetches).toBe(2);
    service.now = minuteMs;
    await expect(cipher.decrypt(lost, context)).rejects.toMatchObject({
      ...undecryptable,
      cause: `The master secret has no key ${getKeyId(lost)}.`,
    });
    expect(service.fetches).toBe(3);
  });

  it('rejects a text that is not a ciphertext without a fetch', async () => {
    const service = createFakeSecretsManager('one');
    const cipher = service.createCipher();
    for (const text of ['', 'undefined', 'a.b.c.d', '0123abcd.e'])
      await expect(cipher.decrypt(text, context)).rejects.toMatchObject(undecryptable);
    expect(service.fetches).toBe(0);
  });

  it('fetches once for concurrent calls, at the start and for a new key', async () => {
    const service = createFakeSecretsManager('one');
    const cipher = service.createCipher();
    const [old, fresh] = [await encryptUnder('one'), await encryptUnder('two')];
    await Promise.all(Array.from({ length: 10 }, () => cipher.decrypt(old, context)));
    expect(service.fetches).toBe(1);
    service.secret = 'two one';
    const texts = await Promise.all(
      Array.from({ length: 10 }, (_, index) => cipher.decrypt(index % 2 ? old : fresh, context)),
    );
    expect(new Set(texts)).toEqual(new Set(['a credential']));
    expect(service.fetches).toBe(2);
  });

  it('keeps its keys while the secret is unavailable', async () => {
    const service = createFakeSecretsManager('one');
    const cipher = service.createCipher();
    const [old, fresh] = [await encryptUnder('one'), await encryptUnder('two')];
    service.isUnavailable = true;
    await expect(cipher.decrypt(old, context)).rejects.toThrow('unavailable');
    service.isUnavailable = false;
    expect(await cipher.decrypt(old, context)).toBe('a credential');
    Object.assign(service, { secret: 'two one', isUnavailable: true });
    await expect(cipher.decrypt(fresh, context)).rejects.toThrow('unavailable');
    expect(await cipher.decrypt(old, context)).toBe('a credential');
    Object.assign(service, { isUnavailable: false, now: minuteMs });
    expect(await cipher.decrypt(fresh, context)).toBe('a credential');
  });

  it('rejects a secret without a key', async () => {
    await expect(createFakeSecretsManager(' \n').createCipher().encrypt('a credential', context)).rejects.toMatchObject(
      {
        code: 'InternalError',
        message: 'The master key is missing.',
      },
    );
  });

  it('re-encrypts only ciphertexts that are not under the current key', async () => {
    const rotated = createFakeSecretsManager('two one').createCipher();
    const again = await rotated.reencryptIfStale(await encryptUnder('one'), context);
    expect(again && (await createFakeSecretsManager('two').createCipher().decrypt(again, context))).toBe(
      'a credential',
    );
    expect(await rotated.reencryptIfStale(again ?? '', context)).toBeUndefined();
  });
});
