import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { storeCatalogue } from '../../../lib/apps/catalogue-table.ts';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { parseBucketUrl } from '../../../lib/export/bucket-location.ts';
import { eraseFromExports } from '../../../lib/export/erase-from-exports.ts';
import { type ExportAppOptions, exportApp } from '../../../lib/export/export-app.ts';
import { openBucketTarget } from '../../../lib/export/s3-object-store.ts';
import { createExportService } from '../../../testing/export-service.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { givenCustomer } from '../../../testing/given-customer.ts';
import { createTestTable } from '../../../testing/table.ts';
import { useObjectServer } from '../../../testing/use-object-server.ts';

const getServer = useObjectServer();

async function givenExport() {
  const table = await createTestTable();
  const service = createExportService(table);
  const app = await getApp(service, (await givenApp(table)).appName);
  await storeCatalogue(service, app.name, { monthly: { type: 'paid subscription', entitlements: ['premium'] } });
  const [username, companion] = [createUniqueName('user'), createUniqueName('companion')];
  await givenCustomer(service, app, { username, alias: createUniqueName('alias'), companion });
  const open = async () => await openBucketTarget('s3://exports/claimcheck/app-1/');
  const run = async (options: Partial<ExportAppOptions> = {}) =>
    await exportApp(service, app, await open(), { kind: 'full', ...options });
  return { username, companion, open, run };
}

const read = (path: string): string =>
  gunzipSync(getServer().objects.get(`exports/claimcheck/app-1/${path}`) ?? '').toString();

describe('createBucketTarget', () => {
  it('exports an app below the prefix, and continues an interrupted export', async () => {
    const { run, username } = await givenExport();
    const controller = new AbortController();
    const onProgress: ExportAppOptions['onProgress'] = (table) => table === 'transactions' && controller.abort();
    await expect(run({ signal: controller.signal, onProgress })).rejects.toThrow('aborted');
    expect([...getServer().objects.keys()].filter((key) => key.endsWith('.gz'))).toHaveLength(2);
    const { files } = await run();
    expect(files.map(({ path }) => path)).toEqual([
      'dt=2026-01-01/customers.jsonl.gz',
      'dt=2026-01-01/entitlements.jsonl.gz',
      'dt=2026-01-01/credits.jsonl.gz',
    ]);
    expect(read('dt=2026-01-01/customers.jsonl.gz')).toContain(username);
    expect(read('dt=2026-01-01/purchases.jsonl.gz')).toContain('store_a:owned');
    expect([...getServer().objects.keys()].every((key) => key.startsWith('exports/claimcheck/app-1/'))).toBe(true);
  });

  it('rewrites the files that name an erased customer, over several pages of the list', async () => {
    const { run, open, username, companion } = await givenExport();
    await run();
    getServer().requests.length = 0;
    expect(await eraseFromExports(await open(), username)).toBe(4);
    const files = [...getServer().objects.keys()].filter((key) => key.endsWith('.gz'));
    expect(files).toHaveLength(5);
    for (const key of files) expect(read(key.slice('exports/claimcheck/app-1/'.length))).not.toContain(username);
    expect(read('dt=2026-01-01/customers.jsonl.gz')).toContain(companion);
    expect(await eraseFromExports(await open(), username)).toBe(0);
  });

  it('repeats an upload that failed', async () => {
    const { run, open } = await givenExport();
    await open();
    getServer().failures.push({ status: 503, code: 'SlowDown' });
    expect((await run()).files).toHaveLength(5);
  });

  it('reports a missing permission', async () => {
    const { run } = await givenExport();
    getServer().failures.push({ status: 403, code: 'AccessDenied' });
    await expect(run()).rejects.toMatchObject({ code: 'Forbidden', message: expect.stringContaining('exports') });
  });
});

describe('parseBucketUrl', () => {
  it.each(['s3://exports', 's3://exports/', 's3://Exports/a', 's3://exports/a//b', 's3://exports/a b', 'https://x/a'])(
    'rejects %s',
    (url) => {
      expect(() => parseBucketUrl(url)).toThrow('s3://bucket/prefix');
    },
  );
});
