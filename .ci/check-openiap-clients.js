// Runs the sources of two OpenIAP clients in Node. The native modules that they call are replaced by the requests that
// openiap-apple and openiap-google send; see docs/guides/openiap-clients.md. Writes the report of the run.
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { withService } from './start-service.js';

const folder = '.ci/openiap';

/** Modules of a device. A member that the libraries only name is an empty function. */
const deviceModules = {
  'react-native': `export const Platform = { OS: globalThis.device.os, Version: 0, select: (map) => map[globalThis.device.os] };
    export const NativeModules = {}; export const Linking = {}; export const TurboModuleRegistry = {};`,
  react:
    'export const useCallback = () => {}; export const useEffect = () => {}; export const useRef = () => {}; export const useState = () => {}; export const useMemo = () => {};',
  'expo-modules-core': `export const requireNativeModule = () => globalThis.device.native;
    export class UnavailabilityError extends Error {}`,
  'react-native-nitro-modules': 'export const NitroModules = { createHybridObject: () => globalThis.device.native };',
};

/** The verification of the native modules: the same request and the same checks of the response. */
async function verifyPurchaseWithProvider({ provider, iapkit: { apiKey, baseUrl, apple, google } }) {
  const body = apple ? { store: 'apple', ...apple } : { store: 'google', ...google };
  const response = await fetch(`${new URL(baseUrl).origin}/v1/purchase/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${apiKey}`, 'X-OpenIAP-Spec': '3.6.0' },
    body: JSON.stringify(body),
  });
  const result = await response.json();
  if (!response.ok || result.errors?.length > 0) throw new Error(JSON.stringify(result));
  const { isValid, state, store } = result;
  if (typeof isValid !== 'boolean' || typeof state !== 'string' || store !== body.store)
    throw new Error(`Malformed response: ${JSON.stringify(result)}`);
  return { provider, iapkit: { ...result, state: state.toLowerCase().replaceAll('_', '-') } };
}

/** Loads the source of a client on a device with this operating system. */
async function loadClient(name, os) {
  const provided = new RegExp(`^(?:${Object.keys(deviceModules).join('|')})$`);
  const outfile = `${folder}/.generated/${name}-${os}.mjs`;
  await build({
    entryPoints: [`${folder}/node_modules/${name}/src/index.ts`],
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    define: { __DEV__: 'false' },
    external: ['expo-constants', '@amazon-devices/*', 'expo'],
    plugins: [
      {
        name: 'device',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: provided }, ({ path }) => ({ path, namespace: 'device' }));
          onLoad({ filter: /./, namespace: 'device' }, ({ path }) => ({ contents: deviceModules[path], loader: 'js' }));
        },
      },
    ],
  });
  const listen = () => ({ remove() {} });
  globalThis.device = {
    os,
    native: { verifyPurchaseWithProvider, addListener: listen, initConnection: async () => true },
  };
  return await import(`../${outfile}`);
}

const steps = {
  buy: { action: undefined, isValid: true },
  renew: { action: 'renew', isValid: true },
  cancel: { action: 'cancel', isValid: true },
  refund: { action: { ios: 'refund', android: 'revoke' }, isValid: false },
};

async function control({ emulatorUrl }, path, body) {
  const response = await fetch(`${emulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return await response.json();
}

/** Runs the steps of one client on one system. Returns the state after each step. */
async function runClient(service, name, os) {
  const client = await loadClient(name, os);
  const order = { platform: os === 'ios' ? 'store_a' : 'store_b', productId: 'premium', type: 'paid subscription' };
  const { id, validate } = await control(service, '/purchases', {
    ...order,
    form: os === 'ios' ? 'product' : undefined,
  });
  const { jwsRepresentation: jws, purchaseToken } = validate.transaction;
  const evidence = os === 'ios' ? { apple: { jws } } : { google: { purchaseToken } };
  const states = [];
  for (const [step, { action, isValid }] of Object.entries(steps)) {
    if (action) await control(service, `/purchases/${id}/${action[os] ?? action}`, {});
    const { iapkit } = await client.verifyPurchaseWithProvider({
      provider: 'iapkit',
      iapkit: { apiKey: service.publicKey, baseUrl: service.baseUrl, ...evidence },
    });
    if (iapkit.isValid !== isValid || (isValid && iapkit.productId !== 'premium'))
      throw new Error(`${name}, ${os}, ${step}: ${JSON.stringify(iapkit)}`);
    states.push(`${isValid ? 'valid' : 'not valid'}, \`${iapkit.state}\``);
  }
  return states;
}

const { dependencies } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));

await withService(async (service) => {
  const rows = [];
  for (const [name, version] of Object.entries(dependencies))
    for (const os of ['ios', 'android'])
      rows.push([
        `${name} ${version}`,
        os === 'ios' ? 'App Store' : 'Google Play',
        ...(await runClient(service, name, os)),
      ]);
  const table = [['Client', 'Store', 'Buy', 'Renew', 'Cancel', 'Refund'], Array(6).fill('---'), ...rows];
  const report = [
    '# Run of OpenIAP clients',
    '`.ci/check-openiap-clients` runs the sources of these clients against `npm start`, and writes this page. The clients are unchanged but for\n`baseUrl` and `apiKey`. Their native modules need a device: the run replaces them by the requests that they send. After a cancellation, the\nsubscription stays valid until its end. The refund of Google Play revokes the subscription.',
    table.map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    '',
  ];
  writeFileSync('docs/openiap-report.md', report.join('\n\n'));
  console.log(`OpenIAP clients: ${rows.length} runs of ${Object.keys(steps).join(', ')} passed.`);
});
