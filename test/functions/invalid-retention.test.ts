import { afterAll, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';

afterAll(() => {
  delete process.env.EVENT_RETENTION_DAYS;
});

describe('deployment with an invalid retention of events', () => {
  it('fails the requests instead of losing their events', async () => {
    const keys = await givenApp(await createTestTable());
    process.env.EVENT_RETENTION_DAYS = 'soon';
    const call = async () =>
      await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'ann' } });
    await expect(call()).rejects.toThrow('The service is not configured.');
    process.env.EVENT_RETENTION_DAYS = '90';
    expect((await call()).status).toBe(200);
  });
});
