/** Private modules of the Braintree client that `braintree-client.ts` uses. The package does not declare their types. */
declare module 'braintree/lib/braintree/util.js' {
  export const Util: {
    /** Converts a parsed XML document to camel-case members with typed values. */
    convertNodeToObject(node: unknown): unknown;
    convertObjectKeysToUnderscores(object: object): object;
  };
}

declare module 'xml2js' {
  export function parseStringPromise(xml: string, options: object): Promise<unknown>;
}
