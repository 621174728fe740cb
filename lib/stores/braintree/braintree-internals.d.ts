/**
 * Private modules of the Braintree client that `braintree-client.ts` uses. The package does not declare their types.
 */
declare module 'braintree/lib/braintree/util.js' {
  const braintreeUtil: {
    readonly Util: {
      /** Converts a parsed XML document to camel-case members with typed values. */
      convertNodeToObject(node: unknown): unknown;
      convertObjectKeysToUnderscores(object: object): object;
    };
  };
  export = braintreeUtil;
}

declare module 'xml2js' {
  const xml2js: { parseStringPromise(xml: string, options: object): Promise<unknown> };
  export = xml2js;
}
