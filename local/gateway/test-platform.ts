import * as v from 'valibot';
import type { HttpRequest } from './proxy-event.ts';

const TestValidation = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ transaction: v.looseObject({ type: v.literal('test') }) }),
);
const TestPurchase = v.object({ validate: v.looseObject({ transaction: v.unknown() }) });

const paths: readonly string[] = ['/v1/validate', '/v1/validate/'];

/**
 * Creates the preparation of requests for the test platform of the plugins. A validation of a test purchase becomes one
 * of a purchase in the emulated App Store, so the service processes it like any other. Other requests stay as they are.
 * Apps with real stores reject a test purchase, like a deployment.
 */
export const createTestPlatform =
  (emulatorUrl: string, realApps: readonly string[] = []) =>
  async (request: HttpRequest): Promise<HttpRequest> => {
    if (request.method !== 'POST' || !paths.includes(request.path)) return request;
    if (realApps.includes(readAppName(request) ?? '')) return request;
    const validation = v.safeParse(TestValidation, request.body.toString('utf8'));
    if (!validation.success) return request;
    const response = await fetch(`${emulatorUrl}/control/test-purchases`, {
      method: 'POST',
      body: JSON.stringify(validation.output),
    });
    if (!response.ok) return request;
    const { validate } = v.parse(TestPurchase, await response.json());
    // The evidence is of the App Store. The request has the product, the customer and the device.
    const body = { ...validation.output, transaction: validate.transaction };
    return { ...request, body: Buffer.from(JSON.stringify(body)) };
  };

/** Returns the app of the credentials, in the header or in the query. */
function readAppName({ rawHeaders, query }: HttpRequest): string | undefined {
  const index = rawHeaders.findIndex((name, position) => position % 2 === 0 && name.toLowerCase() === 'authorization');
  const encoded = /^(?:basic|bearer)\s+(\S+)$/i.exec(rawHeaders[index + 1] ?? '')?.[1];
  if (index === -1 || encoded === undefined) return new URLSearchParams(query).get('appName') ?? undefined;
  return Buffer.from(encoded, 'base64').toString('utf8').split(':')[0];
}
