import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';

/** Keeps the URL of each source, because modules find other files of the project and their packages by it. */
export const keepModuleUrls: Plugin = {
  name: 'keep-module-urls',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return undefined;
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
  },
};
