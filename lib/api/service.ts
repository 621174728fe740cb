import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { type ApiPart, describeObject, describeOperation } from './describe.ts';

/** Version of the interface specification that the service implements. */
export const apiVersion = '3.12.0';

// Spec: not shown. Clients use newer endpoints only if the version is at least 3.12.0.
const Version = v.strictObject({ ok: v.literal(true), name: v.string(), version: v.string() });

export const getVersion = defineContract({
  id: 'get-version',
  area: 'service',
  summary: 'Get the name and version of the service',
  method: 'GET',
  path: '/v3',
  aliases: [],
  keyLevel: 'none',
  errorFormat: 'default',
  eventType: 'service.read',
  response: Version,
  permissions: [],
});

const descriptions = [
  describeObject('Version', Version, 'Name and version of the service.', {
    ok: ['The constant true.', true],
    name: ['Name of the service.', 'claimcheck'],
    version: ['Version of the interface.', '3.12.0'],
  }),
];

const operations = [
  describeOperation(getVersion, {
    description: 'Returns the name and the version of the service. Needs no key.',
  }),
];

export const serviceApi: ApiPart = { descriptions, operations };
