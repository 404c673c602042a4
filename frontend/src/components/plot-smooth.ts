//! Smoothing of noisy series. Pure.

/**
 * The exponential moving average, where each value has the weight `1 - weight` against those before it. It is
 * debiased like Adam's moments (Kingma and Ba, 2015): without that, the average would begin at zero. A missing value stays missing.
 */
export function smoothed(values: readonly (number | null)[], weight: number): (number | null)[] {
  let average = 0;
  let bias = 1;
  return values.map((value) => {
    if (value === null) return null;
    average = weight * average + (1 - weight) * value;
    bias *= weight;
    return average / (1 - bias);
  });
}
