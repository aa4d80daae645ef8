/** A value as one element of a path. One that would name another resource is refused. */
export function segment(value: string): string {
  if (value === '' || value === '.' || value === '..') throw new TypeError('it cannot be in a path: ' + value)
  return encodeURIComponent(String(value).replace(/[\ud800-\udfff]/gu, '\ufffd')) // half of a pair
}
