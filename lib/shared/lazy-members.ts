/** Creates an object whose members are created when they are first read, once each. */
export function createLazyMembers<T extends object>(factories: { readonly [K in keyof T]: () => T[K] }): T {
  const members = {} as T;
  for (const name of Object.keys(factories) as (keyof T)[]) {
    const get = () => {
      const value = factories[name]();
      Object.defineProperty(members, name, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(members, name, { get, enumerable: true, configurable: true });
  }
  return members;
}
