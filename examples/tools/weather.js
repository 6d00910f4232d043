/*
title: Weather
description: The weather of the next days, from a public service
*/

// An administrator agrees to these before models may call the tool.
export const meta = { capabilities: { fetch: ["api.open-meteo.com", "geocoding-api.open-meteo.com"] } };

/** Each person chooses for themselves. */
export const userValves = {
  unit: { type: "string", enum: ["celsius", "fahrenheit"], default: "celsius", title: "Temperature in" },
};

async function read(host, address) {
  const answer = await host.fetch(address);
  if (!answer.ok) {
    throw new Error(`The weather service answered ${answer.status}.`);
  }
  return JSON.parse(answer.body);
}

export const tools = {
  get_weather: {
    title: "Weather",
    description: "The weather of a place for today and the next days",
    // It only reads: several calls of one answer run side by side.
    parallel: true,
    parameters: {
      type: "object",
      properties: {
        place: { type: "string", description: "A town, as people call it" },
        days: { type: "integer", minimum: 1, maximum: 7, default: 3 },
      },
      required: ["place"],
    },
    async run({ place, days }, { host, userValves }) {
      const query = encodeURIComponent(place);
      const { results } = await read(
        host,
        `https://geocoding-api.open-meteo.com/v1/search?count=1&name=${query}`,
      );
      const [found] = results ?? [];
      if (!found) {
        throw new Error(`No place is called ${place}.`);
      }
      await host.emit({ type: "status", data: { description: `Weather of ${found.name}`, done: true } });
      const daily = "temperature_2m_min,temperature_2m_max,precipitation_sum";
      const at = `latitude=${found.latitude}&longitude=${found.longitude}`;
      const wanted = `daily=${daily}&forecast_days=${days}&timezone=auto&temperature_unit=${userValves.unit}`;
      const forecast = await read(host, `https://api.open-meteo.com/v1/forecast?${at}&${wanted}`);
      return { place: found.name, country: found.country, units: forecast.daily_units, days: forecast.daily };
    },
  },
};
