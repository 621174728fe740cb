import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { answered, answering, askingWith, type Microsoft, useMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
let subscription: ValidationRequest;
let item: ValidationRequest;
beforeAll(async () => {
  microsoft = await useMicrosoft();
  subscription = (await microsoft.bought({ productId: 'subscription' })).body;
  item = (await microsoft.bought({ productId: 'item', type: 'non consumable' })).body;
});
afterAll(() => microsoft.close());
beforeEach(() => microsoft.control('DELETE', '/control/faults'));

const unique = () => ({ ...microsoft.settings('store_c'), tenantId: `tenant-${Math.random()}` });

/** Validates against a Microsoft whose services answer this, behind a token endpoint that works. */
const against = (response: { status?: number; text: string }, body = subscription) =>
  storeC.validate(
    body,
    askingWith(
      answering(() => response),
      unique(),
    ),
  );

describe('a Microsoft that cannot be asked', () => {
  test.each(['down', 'rate-limited', 'html', 'cut'])('because it is %s makes nothing of a purchase', async (fault) => {
    for (const body of [subscription, item]) {
      await microsoft.addFault({ fault });
      await expect(microsoft.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed', number: 6778002 });
    }
  });

  test.each([
    ['a page', 200, '<!DOCTYPE html><html></html>'],
    ['nothing', 200, ''],
    ['another shape', 200, '{"value":[]}'],
    ['items that are none', 200, '{"items":[1]}'],
    ['an item without its product', 200, '{"items":[{"id":"1"}]}'],
    ['an empty answer that is none', 204, ''],
    ['a redirection', 302, ''],
    ['an outage', 500, '{"code":"InternalServerError"}'],
    ['a rate limit', 429, '{"code":"TooManyRequests"}'],
    ['a timeout of a gateway', 504, '<html></html>'],
    ['a refusal that is a page', 403, '<html></html>'],
    ['a conflict', 409, '{"code":"Conflict"}'],
  ])('that answers %s is not asked', async (_what, status, text) => {
    for (const body of [subscription, item]) {
      await expect(against({ status, text }, body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    }
  });

  test.each([
    [500, 'oops'],
    [429, '{}'],
    [200, '<html></html>'],
    [200, '{"token_type":"Bearer"}'],
    [400, '<html></html>'],
  ])('whose Entra answers %i %s is not asked either', async (status, text) => {
    const context = askingWith(async () => answered({ status, text }), unique());
    await expect(storeC.validate(subscription, context)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('gets no more than 12 seconds in all', async () => {
    const allowed: number[] = [];
    const context = askingWith(
      answering((_url, { timeoutMs = Number.POSITIVE_INFINITY }) => {
        allowed.push(timeoutMs);
        return { text: '{"items":[],"continuationToken":"more"}' };
      }),
      unique(),
    );
    await storeC.validate(subscription, context);
    expect(Math.max(...allowed)).toBeLessThanOrEqual(5_000);
    expect(allowed).toHaveLength(20);
    const slow: StoreFetch = async () => {
      throw new Error('not called any more');
    };
    const { withRequestBudget } = await import('../../../../lib/stores/store-c/request-budget.ts');
    const real = performance.now;
    const late = withRequestBudget(slow);
    try {
      performance.now = () => real.call(performance) + 11_000;
      await expect(late('https://login.microsoftonline.com')).rejects.toMatchObject({ code: 'ConnectionFailed' });
    } finally {
      performance.now = real;
    }
  });
});

describe('credentials', () => {
  test.each([
    [{ clientSecret: 'wrong' }, /tenantId, clientId and clientSecret/],
    [{ tenantId: 'another' }, /tenantId, clientId and clientSecret/],
  ])('that Entra refuses are a problem of the settings: %j', async (settings, message) => {
    const error = { code: 'InternalError', message: expect.stringMatching(message) };
    const { license: _keys, ...body } = subscription;
    await expect(microsoft.validate(body, settings)).rejects.toMatchObject(error);
    await expect(storeC.checkSettings(microsoft.asking(settings), { callStore: true })).rejects.toMatchObject(error);
  });

  test.each([
    ['PartnerAadTicketRequired', 401, /Partner Center/],
    ['InconsistentClientId', 401, /clientId/],
    ['SomethingElse', 403, /Partner Center/],
  ])('that the services refuse with %s are, too', async (code, status, message) => {
    const text = JSON.stringify({ code: 'Unauthorized', innererror: { code } });
    await expect(against({ status, text })).rejects.toMatchObject({
      code: 'InternalError',
      message: expect.stringMatching(message),
    });
    await expect(against({ status, text: JSON.stringify({ code }) })).rejects.toMatchObject({ code: 'InternalError' });
  });

  it('are asked for once an hour and audience, and again when they were refused', async () => {
    const settings = unique();
    let tokens = 0;
    let status = 200;
    let now = 0;
    const fetch: StoreFetch = async (url) => {
      if (!url.startsWith('https://login.')) return answered({ status, text: '{"items":[],"code":"Unauthorized"}' });
      tokens += 1;
      return answered({ text: '{"access_token":"token","expires_in":"3599"}' });
    };
    const validate = () => storeC.validate(subscription, { ...askingWith(fetch, settings), now: () => now });
    for (const [at, expected] of [
      [0, 1],
      [3_538_000, 1],
      [3_540_000, 2],
    ] as const) {
      now = at;
      await validate();
      expect(tokens).toBe(expected);
    }
    status = 403;
    await expect(validate()).rejects.toMatchObject({ code: 'InternalError' });
    status = 200;
    await validate();
    expect(tokens).toBe(3);
  });
});

describe('settings', () => {
  it('that are good are said to be so', async () => {
    const good = microsoft.asking();
    expect(await storeC.checkSettings(good, { callStore: false })).toMatch(/complete/);
    expect(await storeC.checkSettings(good, { callStore: true })).toMatch(/tickets/);
  });

  test.each([
    [{ tenantId: 'a/b' }, /tenantId/],
    [{ clientSecret: '' }, /clientSecret/],
    [{ consume: 'yes' }, /consume/],
  ])('that are not usable are named to the operator: %j', async (changes, message) => {
    const context = microsoft.asking(changes);
    await expect(storeC.checkSettings(context, { callStore: false })).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringMatching(message),
    });
    await expect(storeC.validate(subscription, context)).rejects.toMatchObject({ code: 'InternalError' });
  });

  it('are needed', async () => {
    const context = { ...microsoft.asking(), settings: undefined };
    await expect(storeC.validate(subscription, context)).rejects.toMatchObject({ code: 'InvalidPayload' });
    await expect(storeC.checkSettings(context, { callStore: false })).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

it('a product that Microsoft cannot read is the fault of the request', async () => {
  const text = '{"code":"BadRequest","innererror":{"code":"InvalidParameter"}}';
  await expect(against({ status: 400, text })).rejects.toMatchObject({ code: 'InvalidPayload' });
});
