import { createRequire } from 'node:module';
import vm from 'node:vm';

const { TestEnvironment } = createRequire(import.meta.url)('jest-environment-node');

/**
 * The environment of jest for Node in a context without interceptors, which make each use of a global, such as `Object`
 * or `Date`, about 18 times as slow.
 * @see https://nodejs.org/docs/latest-v20.x/api/vm.html#when-contextobject-is-vmconstantsdont_contextify
 */
// biome-ignore lint/style/noDefaultExport: jest loads the default export.
export default class PlainEnvironment extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
