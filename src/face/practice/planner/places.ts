/** Cities that the planner knows, with their time zones, and how it finds a place in a sentence. */

const CITY_ZONES = `Europe/Paris:Paris,Lyon,Marseille,Toulouse,Strasbourg,Bordeaux
Europe/London:London,Manchester,Edinburgh,Glasgow,Liverpool,Oxford,Cambridge,Bristol,Cardiff,Belfast
Europe/Dublin:Dublin Europe/Berlin:Berlin,Munich,München,Hamburg,Cologne,Köln,Frankfurt,Stuttgart,Leipzig,Dresden,Bremen
Europe/Vienna:Vienna,Wien,Salzburg,Graz Europe/Zurich:Zurich,Zürich,Geneva,Basel,Bern Europe/Rome:Rome,Milan,Naples,Turin,Venice,Florence
Europe/Madrid:Madrid,Barcelona,Seville,Valencia,Bilbao,Malaga Europe/Lisbon:Lisbon,Porto Europe/Amsterdam:Amsterdam,Rotterdam,Utrecht
Europe/Brussels:Brussels,Antwerp,Ghent Europe/Luxembourg:Luxembourg Europe/Copenhagen:Copenhagen,Aarhus Europe/Stockholm:Stockholm,Gothenburg,Malmö
Europe/Oslo:Oslo,Bergen,Trondheim Europe/Helsinki:Helsinki,Tampere Atlantic/Reykjavik:Reykjavik Europe/Warsaw:Warsaw,Krakow,Gdansk,Wroclaw
Europe/Prague:Prague,Brno Europe/Budapest:Budapest Europe/Bucharest:Bucharest Europe/Sofia:Sofia Europe/Athens:Athens,Thessaloniki
Europe/Belgrade:Belgrade,Zagreb,Ljubljana,Sarajevo Europe/Kyiv:Kyiv,Kiev,Lviv,Odesa Europe/Moscow:Moscow,Saint Petersburg Europe/Istanbul:Istanbul,Ankara,Izmir
Europe/Riga:Riga Europe/Vilnius:Vilnius Europe/Tallinn:Tallinn Asia/Jerusalem:Jerusalem,Tel Aviv,Haifa Africa/Cairo:Cairo,Alexandria
Africa/Casablanca:Casablanca,Marrakesh,Rabat Africa/Lagos:Lagos,Abuja Africa/Accra:Accra Africa/Nairobi:Nairobi,Addis Ababa
Africa/Johannesburg:Johannesburg,Cape Town,Durban,Pretoria Africa/Algiers:Algiers Africa/Tunis:Tunis Asia/Dubai:Dubai,Abu Dhabi Asia/Riyadh:Riyadh,Jeddah
Asia/Qatar:Doha Asia/Tehran:Tehran Asia/Baghdad:Baghdad Asia/Karachi:Karachi,Lahore,Islamabad Asia/Kolkata:Mumbai,Delhi,New Delhi,Bangalore,Bengaluru,Chennai,Kolkata,Hyderabad,Pune
Asia/Dhaka:Dhaka Asia/Colombo:Colombo Asia/Kathmandu:Kathmandu Asia/Bangkok:Bangkok,Chiang Mai Asia/Ho_Chi_Minh:Hanoi,Ho Chi Minh City,Saigon
Asia/Jakarta:Jakarta Asia/Makassar:Bali Asia/Kuala_Lumpur:Kuala Lumpur Asia/Singapore:Singapore Asia/Manila:Manila Asia/Hong_Kong:Hong Kong
Asia/Shanghai:Shanghai,Beijing,Shenzhen,Guangzhou,Chengdu Asia/Taipei:Taipei Asia/Seoul:Seoul,Busan Asia/Tokyo:Tokyo,Osaka,Kyoto,Sapporo,Yokohama
Australia/Sydney:Sydney,Canberra Australia/Melbourne:Melbourne Australia/Brisbane:Brisbane Australia/Perth:Perth Australia/Adelaide:Adelaide
Pacific/Auckland:Auckland,Wellington,Christchurch Pacific/Honolulu:Honolulu America/New_York:New York,New York City,NYC,Boston,Washington,Philadelphia,Miami,Atlanta,Orlando
America/Detroit:Detroit America/Chicago:Chicago,Houston,Dallas,Austin,San Antonio,New Orleans,Minneapolis,Nashville,Memphis America/Denver:Denver,Salt Lake City
America/Phoenix:Phoenix America/Los_Angeles:Los Angeles,San Francisco,San Diego,Seattle,Portland,Las Vegas,San Jose,Sacramento America/Anchorage:Anchorage
America/Toronto:Toronto,Ottawa,Montreal,Quebec America/Vancouver:Vancouver America/Edmonton:Calgary,Edmonton America/Mexico_City:Mexico City,Guadalajara
America/Bogota:Bogota,Bogotá,Medellin America/Lima:Lima America/Santiago:Santiago America/Argentina/Buenos_Aires:Buenos Aires America/Sao_Paulo:Sao Paulo,São Paulo,Rio de Janeiro,Brasilia
America/Caracas:Caracas America/Havana:Havana America/Montevideo:Montevideo America/La_Paz:La Paz America/Guayaquil:Quito`;

const ZONE_OF = new Map<string, string>();
const NAMES: string[] = [];
for (const [, zone = "", list = ""] of CITY_ZONES.matchAll(/([A-Z]\w+\/[\w/]+):(.+?)(?=\s+[A-Z]\w+\/|$)/gm)) {
  for (const name of list.split(",")) {
    ZONE_OF.set(name.toLowerCase(), zone);
    NAMES.push(name);
  }
}
const LETTER = "\\p{L}\\p{N}";
const KNOWN_CITY = new RegExp(
  `(?<![${LETTER}])(?:${[...NAMES].sort((a, b) => b.length - a.length).join("|")})(?![${LETTER}])`,
  "giu",
);
const PLACE_AFTER =
  /\b(?:in|at|for|near|around|to|from|of)\s+((?:\p{Lu}[\p{L}'’.-]*)(?:\s+(?:de|la|el|of|\p{Lu}[\p{L}'’.-]*))*)/gu;
const NO_PLACE =
  /^(?:I|It|The|A|An|My|Your|This|That|What|How|Who|Please|English|French|German|Spanish|Italian|Japanese|Celsius|Fahrenheit|UTC|GMT|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July|August|September|October|November|December)\b/;

/** Places named in `text`, in order: known cities in any case, others when capitalised after "in", "for", "at" and the like. */
export function findPlaces(text: string): string[] {
  const found: { at: number; end: number; name: string }[] = [];
  for (const match of text.matchAll(KNOWN_CITY)) {
    found.push({ at: match.index, end: match.index + match[0].length, name: properName(match[0]) });
  }
  for (const match of text.matchAll(PLACE_AFTER)) {
    const name = (match[1] ?? "").replace(/[.,'’-]+$/, "");
    const at = match.index + match[0].length - (match[1] ?? "").length;
    const isKnown = found.some((other) => at < other.end && other.at < at + name.length);
    if (!isKnown && !NO_PLACE.test(name)) found.push({ at, end: at + name.length, name });
  }
  found.sort((a, b) => a.at - b.at);
  return [...new Set(found.map(({ name }) => name))];
}

/** IANA time zones named in `text`: written out, "UTC", or those of its places. */
export function findZones(text: string): string[] {
  const zones = [...text.matchAll(/\b[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_]+)?\b/g)].map(
    ([zone]) => zone,
  );
  for (const place of findPlaces(text)) {
    const zone = ZONE_OF.get(place.toLowerCase());
    if (zone !== undefined) zones.push(zone);
  }
  if (/\b(?:UTC|GMT|Zulu)\b/i.test(text)) zones.push("UTC");
  return [...new Set(zones)];
}

// "paris" is Paris, but a name that was typed with its own capitals stays.
function properName(typed: string): string {
  if (typed !== typed.toLowerCase()) return typed;
  return NAMES.find((name) => name.toLowerCase() === typed) ?? typed;
}
