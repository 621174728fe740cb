import { beforeAll, describe, expect, it } from '@jest/globals';
import { getVersion } from '../../lib/api/service.ts';
import { callEndpoint } from '../../testing/call.ts';
import { createTestTable } from '../../testing/table.ts';

beforeAll(async () => {
  await createTestTable();
});

describe('GET /v3', () => {
  it('returns the name and the interface version without an API key', async () => {
    expect(await callEndpoint(getVersion, {})).toMatchObject({
      status: 200,
      body: { ok: true, name: 'claimcheck', version: '3.12.0' },
    });
  });

  it('ignores invalid credentials', async () => {
    const headers = { authorization: 'Basic invalid' };
    expect((await callEndpoint(getVersion, { headers })).status).toBe(200);
  });
});
