import { describe, expect, it } from '@jest/globals';
import { type Cipher, createCipher } from '../../../lib/shared/cipher.ts';

const minute = 60_000;
const place = 'app/secret-key';

/** Containers of a service whose secret and clock a test moves. */
function vault(secret: string) {
  const state = { secret, now: 0, fetches: 0, away: false };
  const fetch = async () => {
    state.fetches += 1;
    if (state.away) throw new Error('Secrets Manager is away');
    return state.secret;
  };
  return Object.assign(state, { container: () => createCipher(fetch, () => state.now) });
}

const keyIdOf = (sealed: string) => sealed.split('.')[0];
const sealedBy = async (secret: string) => await vault(secret).container().encrypt('a credential', place);
const opened = async (cipher: Cipher, sealed: string) => await cipher.decrypt(sealed, place);
const refused = { code: 'InternalError', message: 'A secret cannot be opened.' };

describe('the ring of master keys', () => {
  it('opens what it sealed, in its own place only', async () => {
    const cipher = vault('one').container();
    const sealed = await cipher.encrypt('a credential', place);
    expect(sealed).not.toContain('credential');
    expect(await opened(cipher, sealed)).toBe('a credential');
    await expect(cipher.decrypt(sealed, 'other/secret-key')).rejects.toThrow();
  });

  it('opens what was sealed when the secret was one key', async () => {
    const sealed = '53c35db0.PXpXtPFAlEFE-wPW.uHCZ9cFTYifRdsXDqxbOpQ.BPqSrmEzpTJIwFG_';
    expect(await opened(vault('one').container(), sealed)).toBe('a credential');
  });

  it('opens old texts after a rotation, and seals new ones under the new key', async () => {
    const old = await sealedBy('one');
    const rotated = vault('two one').container();
    expect(await opened(rotated, old)).toBe('a credential');
    const fresh = await rotated.encrypt('a credential', place);
    expect(keyIdOf(fresh)).toBe(keyIdOf(await sealedBy('two')));
    expect(keyIdOf(fresh)).not.toBe(keyIdOf(old));
  });

  it.each(['two one', ' two\none\n', 'two\t \r\none'])('takes any white space between keys: %j', async (secret) => {
    const cipher = vault(secret).container();
    expect(keyIdOf(await cipher.encrypt('a credential', place))).toBe(keyIdOf(await sealedBy('two')));
    expect(await opened(cipher, await sealedBy('one'))).toBe('a credential');
  });

  it('opens a text sealed under a new key after one more fetch, and then seals under that key', async () => {
    const service = vault('one');
    const running = service.container();
    await running.encrypt('warm', place);
    service.secret = 'two one';
    const fresh = await sealedBy('two');
    expect(await opened(running, fresh)).toBe('a credential');
    expect(await opened(running, fresh)).toBe('a credential');
    expect(service.fetches).toBe(2);
    expect(keyIdOf(await running.encrypt('warm', place))).toBe(keyIdOf(fresh));
  });

  it('fetches at most once a minute for texts of a key that the secret does not have', async () => {
    const service = vault('one');
    const cipher = service.container();
    const lost = await sealedBy('lost');
    for (let attempt = 0; attempt < 5; attempt++) await expect(opened(cipher, lost)).rejects.toMatchObject(refused);
    expect(service.fetches).toBe(2);
    service.now = minute;
    await expect(opened(cipher, lost)).rejects.toMatchObject({
      ...refused,
      cause: `The master secret has no key ${keyIdOf(lost)}.`,
    });
    expect(service.fetches).toBe(3);
  });

  it('fetches nothing for a text of another form', async () => {
    const service = vault('one');
    const cipher = service.container();
    for (const text of ['', 'undefined', 'a.b.c.d', '0123abcd.e'])
      await expect(opened(cipher, text)).rejects.toMatchObject(refused);
    expect(service.fetches).toBe(0);
  });

  it('fetches once for calls that come together, at the start and for a new key', async () => {
    const service = vault('one');
    const cipher = service.container();
    const [old, fresh] = [await sealedBy('one'), await sealedBy('two')];
    await Promise.all(Array.from({ length: 10 }, () => opened(cipher, old)));
    expect(service.fetches).toBe(1);
    service.secret = 'two one';
    const texts = await Promise.all(Array.from({ length: 10 }, (_, index) => opened(cipher, index % 2 ? old : fresh)));
    expect(new Set(texts)).toEqual(new Set(['a credential']));
    expect(service.fetches).toBe(2);
  });

  it('keeps the keys that it knows while the secret cannot be fetched', async () => {
    const service = vault('one');
    const cipher = service.container();
    const [old, fresh] = [await sealedBy('one'), await sealedBy('two')];
    service.away = true;
    await expect(opened(cipher, old)).rejects.toThrow('away');
    service.away = false;
    expect(await opened(cipher, old)).toBe('a credential');
    Object.assign(service, { secret: 'two one', away: true });
    await expect(opened(cipher, fresh)).rejects.toThrow('away');
    expect(await opened(cipher, old)).toBe('a credential');
    Object.assign(service, { away: false, now: minute });
    expect(await opened(cipher, fresh)).toBe('a credential');
  });

  it('refuses a secret without a key', async () => {
    await expect(vault(' \n').container().encrypt('a credential', place)).rejects.toMatchObject({
      code: 'InternalError',
      message: 'The master key is missing.',
    });
  });

  it('seals again what is not under the first key', async () => {
    const rotated = vault('two one').container();
    const again = await rotated.reencryptIfStale(await sealedBy('one'), place);
    expect(again && (await opened(vault('two').container(), again))).toBe('a credential');
    expect(await rotated.reencryptIfStale(again ?? '', place)).toBeUndefined();
  });
});
