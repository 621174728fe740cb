import * as v from 'valibot';

/** A user of the application, in any characters, as long as it can be part of a sort key (1,024 bytes). */
export const Username = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxBytes(900),
  v.regex(/^\P{Surrogate}*$/u, 'well-formed Unicode'),
);

/** The id of a purchase or transaction in a path or body. */
export const Id = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxBytes(900),
  v.regex(/^\P{Surrogate}*$/u, 'well-formed Unicode'),
);
