import type { Plugin } from 'rolldown';

/** Modules without the code that no function uses. A call of an omitted function throws. */
const replacements: readonly { readonly id: RegExp; readonly importer: RegExp; readonly code: string }[] = [
  {
    // Response streaming. Loading Node's web streams takes a seventh of a cold start.
    id: /^node:stream\/(?:web|promises)$/,
    importer: /[\\/]@middy[\\/]core[\\/]/,
    code: 'export const ReadableStream = undefined; export const pipeline = undefined;',
  },
  {
    // Credentials from files, processes, containers and single sign-on. Lambda sets environment variables.
    // https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
    id: /^@aws-sdk\/credential-provider-node$/,
    importer: /[\\/]@aws-sdk[\\/]/,
    code: "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
  },
];

const prefix = '\0without-unused:';

/** Omits code of packages that the functions never use on Lambda, so that it is not loaded. */
export const omitUnusedModules: Plugin = {
  name: 'omit-unused-modules',
  resolveId(id, importer = '') {
    const index = replacements.findIndex(({ id: pattern, importer: from }) => pattern.test(id) && from.test(importer));
    return index < 0 ? undefined : `${prefix}${index}`;
  },
  load(id) {
    return id.startsWith(prefix) ? replacements[Number(id.slice(prefix.length))]?.code : undefined;
  },
};
