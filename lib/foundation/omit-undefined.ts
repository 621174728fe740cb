type OmitUndefined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the record without its undefined members. */
export const omitUndefined = <T extends object>(record: T): OmitUndefined<T> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as OmitUndefined<T>;
