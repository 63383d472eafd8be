vcl 4.1;

# Varnish 7 as a cache in front of hdqs. `make edge` tests this very file with Debian's varnish. Start it so:
#
#   varnishd -f /etc/varnish/hdqs.vcl -a public=:6081 -a purge=127.0.0.1:6083 -s malloc,4g \
#     -p http_gzip_support=off -p http_req_size=64k -p workspace_client=512k -p workspace_backend=256k
#
# TLS ends in front of it (hitch, nginx, a load balancer). With http_gzip_support=off there is one copy
# for each content coding, with the bytes as the service made them; otherwise Varnish asks for gzip
# only. A request with every plain parameter at its maximum length has about 43 KiB.
#
# Replicas run with --surrogate-key and --base-url. Purge what 'hdqs publish' prints, once the
# replicas serve the new snapshot; only the listener named purge takes it:
#
#   curl -X PURGE -H 'Surrogate-Key: landing ep-idps' http://127.0.0.1:6083/
#
# One cached answer serves all callers, whatever their app identifier, the order of their parameters,
# ranges, GET or HEAD. X-Cache says HIT, MISS, STALE or BYPASS.

import directors;
import std;

# The two replicas hdqs@8080 and hdqs@8090 of deploy/systemd. Never name an admin listener here.
backend first {
	.host = "127.0.0.1";
	.port = "8080";
	.connect_timeout = 2s;
	.first_byte_timeout = 10s;
	.between_bytes_timeout = 10s;
}

backend second {
	.host = "127.0.0.1";
	.port = "8090";
	.connect_timeout = 2s;
	.first_byte_timeout = 10s;
	.between_bytes_timeout = 10s;
}

sub vcl_init {
	new replicas = directors.round_robin();
	replicas.add_backend(first);
	replicas.add_backend(second);
}

sub vcl_recv {
	set req.backend_hint = replicas.backend();
	if (req.restarts == 0) {
		unset req.http.X-Edge-Try;
	}
	unset req.http.X-Edge-Cache;
	set req.grace = 52w; # as long as the answer allows
	if (req.http.X-Edge-Try == "fresh") {
		set req.grace = 0s;
	}

	if (local.socket == "purge") {
		call purge_keys;
	}

	# Agents (serve --mcp) send messages by POST. A message can be repeated: all that it asks for is read.
	if (req.method != "GET" && req.method != "HEAD") {
		std.cache_req_body(32KB);
		return (pass);
	}
	# Files of whole tables are read in parts. A path with a percent sign may be another spelling of
	# any path; no path of the service needs one.
	if (req.http.Range ~ "," && req.url ~ "^(/hapi|/contract)?/bulk/") {
		return (pipe); # the service refuses several parts, and Varnish would not pass that on
	}
	if (req.url ~ "^(/hapi|/contract)?/bulk/" || req.url ~ "^[^?]*%" || req.url ~ "^/mcp(\?|$)") {
		return (pass);
	}
	# The service lets no cache keep what a client of OData asks for by Accept; nor may such a client
	# get a kept answer.
	if (req.url ~ "^/odata/" && (req.http.Accept ~ "(?i)metadata=(none|full)|ieee754compatible=true" ||
		req.url ~ "^/odata/v4/.metadata" && req.http.Accept ~ "(?i)application/json" &&
		req.http.Accept !~ "(?i)/xml|text/|\*/\*")) {
		return (pass);
	}

	# Nothing in an answer depends on these. Parts of two snapshots would look like one file.
	unset req.http.Authorization;
	unset req.http.Cookie;
	unset req.http.Range;
	unset req.http.If-Range;
	# Fields with weights are rare; each gets a copy of its own.
	if (req.http.Accept-Encoding !~ ";") {
		if (req.http.Accept-Encoding ~ "(?i)\bgzip\b") {
			set req.http.Accept-Encoding = "gzip";
		} elsif (req.http.Accept-Encoding ~ "(?i)\bzstd\b") {
			set req.http.Accept-Encoding = "zstd";
		} else {
			unset req.http.Accept-Encoding;
		}
	}
	# Maps (/ogc), /sources and paths that nothing is at have an answer for browsers and one for programs, which
	# Accept chooses. The service is sent one of two values of Accept, and each has a copy of its own.
	if (req.http.Accept ~ "text/html" && req.http.Accept !~ "json" && req.url !~ "^(/hapi|/contract)?/(api|bulk|odata/)") {
		set req.http.Accept = "text/html";
	} else {
		set req.http.Accept = "*/*";
	}
	call make_key;

	# Without an app identifier, or with one that cannot be one, a request goes to the service, which
	# says what is wrong. The identifier is a label, not a credential: no answer depends on it.
	if (req.url ~ "^(/hapi|/contract)?/api" && req.url !~ "/api/v[12]/(encode_app_identifier|util/version)(\?|$)" &&
		req.http.X-Edge-Label + req.http.X-CATALOG-API-APP-IDENTIFIER + req.http.X-HDX-HAPI-APP-IDENTIFIER
		!~ "^(?:[A-Za-z0-9+/_=-]|%(?:2[BbFf]|3[Dd]|20)){8,}$") {
		return (pass);
	}
	return (hash);
}

# make_key takes the app identifier out of the key, and puts parameters of lists in a fixed order where
# that loses nothing: each has a plain name and occurs once. Names that the service does not know stay, since
# it says so in X-Unknown-Params, and refuses some.
sub make_key {
	set req.http.X-Edge-Path = regsub(req.url, "\?.*$", "");
	set req.http.X-Edge-Query = regsub(req.url, "^[^?]*\??", "");
	set req.http.X-Edge-Label = "";
	if (req.http.X-Edge-Query ~ "(^|&)app_identifier=") {
		set req.http.X-Edge-Label = regsub(req.http.X-Edge-Query, "^(?:.*?&)?app_identifier=([^&]*).*$", "\1");
		set req.http.X-Edge-Query = regsub(req.http.X-Edge-Query, "(^|&)app_identifier=[^&]*", "");
	}
	set req.http.X-Edge-Query = regsub(req.http.X-Edge-Query, "^&", "");
	if (req.http.X-Edge-Path ~ "/api/" && req.http.X-Edge-Query ~ "^(?:[a-z0-9_]++=[^&]++(?:&|$))++$" &&
		req.http.X-Edge-Query ~ "^.{1,4000}$") {
		set req.http.X-Edge-Sorted = regsub(std.querysort("/?" + regsub(req.http.X-Edge-Query, "&$", "")), "^/\?", "");
		if (req.http.X-Edge-Sorted !~ "(?:^|&)([a-z0-9_]++)=[^&]*+&\1=") {
			set req.http.X-Edge-Query = req.http.X-Edge-Sorted;
			set req.url = req.http.X-Edge-Path + "?" + req.http.X-Edge-Query;
			if (req.http.X-Edge-Label != "") {
				set req.url = req.url + "&app_identifier=" + req.http.X-Edge-Label;
			}
		}
		unset req.http.X-Edge-Sorted;
	}
	set req.http.X-Edge-Key = req.http.X-Edge-Path + "?" + req.http.X-Edge-Query;
	unset req.http.X-Edge-Path;
	unset req.http.X-Edge-Query;
}

# No answer that may be kept depends on Host.
sub vcl_hash {
	hash_data(req.http.Accept + " " + req.http.X-Edge-Key);
	return (lookup);
}

sub purge_keys {
	if (req.method != "PURGE") {
		return (synth(405));
	}
	if (req.http.Surrogate-Key !~ "^[A-Za-z0-9_-]+( [A-Za-z0-9_-]+)*$") {
		return (synth(400, "Surrogate-Key names the keys that hdqs publish prints, with one blank between them"));
	}
	ban("obj.http.X-Edge-Keys ~ \|(" + regsuball(req.http.Surrogate-Key, " ", "|") + ")\|");
	return (synth(200, "purged: " + req.http.Surrogate-Key));
}

# While stale-while-revalidate lasts, a stale answer is sent and a fresh one fetched. After that a
# fresh one is fetched first (X-Edge-Try: fresh), and if that fails, the stale one is sent (X-Edge-Try: stale).
sub vcl_hit {
	set req.http.X-Edge-Cache = "HIT";
	if (obj.ttl <= 0s) {
		set req.http.X-Edge-Cache = "STALE";
		if (!req.http.X-Edge-Try && obj.ttl + std.duration(obj.http.X-Edge-Stale, 0s) <= 0s) {
			set req.http.X-Edge-Try = "fresh";
			return (restart);
		}
	}
	return (deliver);
}

# The answer to a HEAD has no body, so it is not stored for those who GET, and costs the service none.
sub vcl_miss {
	set req.http.X-Edge-Cache = "MISS";
	if (req.method == "HEAD") {
		return (pass);
	}
	return (fetch);
}

sub vcl_pass {
	if (!req.http.X-Edge-Cache) {
		set req.http.X-Edge-Cache = "BYPASS";
	}
	return (fetch);
}

sub vcl_pipe {
	set bereq.http.Connection = "close";
	return (pipe);
}

sub vcl_backend_fetch {
	unset bereq.http.X-Edge-Cache;
	unset bereq.http.X-Edge-Key;
	unset bereq.http.X-Edge-Label;
	unset bereq.http.X-Edge-Try;
	if (bereq.retries > 0) {
		set bereq.backend = replicas.backend();
	}
	return (fetch);
}

sub vcl_backend_response {
	# What one replica cannot answer, the other one can.
	if ((beresp.status == 502 || beresp.status == 503) && bereq.retries == 0) {
		return (retry);
	}
	if (beresp.status >= 500) {
		if (bereq.is_bgfetch) {
			return (abandon); # the stale answer stays
		}
		set beresp.ttl = 0s;
		set beresp.grace = 0s;
		set beresp.uncacheable = true;
		return (deliver);
	}
	if (bereq.uncacheable) {
		return (deliver);
	}
	if (!beresp.http.Cache-Control || beresp.http.Cache-Control ~ "(?i)no-store|no-cache|private" || beresp.ttl <= 0s) {
		set beresp.ttl = 60s;
		set beresp.grace = 0s;
		set beresp.uncacheable = true;
		return (deliver);
	}
	set beresp.http.X-Edge-Stale = "0s";
	set beresp.grace = 0s;
	if (beresp.http.Cache-Control ~ "stale-while-revalidate=[0-9]") {
		set beresp.http.X-Edge-Stale = regsub(beresp.http.Cache-Control, "^.*stale-while-revalidate=([0-9]+).*$", "\1s");
		set beresp.grace = std.duration(beresp.http.X-Edge-Stale, 0s);
	}
	if (beresp.http.Cache-Control ~ "stale-if-error=[0-9]") {
		set beresp.http.X-Edge-Error = regsub(beresp.http.Cache-Control, "^.*stale-if-error=([0-9]+).*$", "\1s");
		if (std.duration(beresp.http.X-Edge-Error, 0s) > beresp.grace) {
			set beresp.grace = std.duration(beresp.http.X-Edge-Error, 0s);
		}
		unset beresp.http.X-Edge-Error;
	}
	set beresp.http.X-Edge-Keys = "|" + regsuball(beresp.http.Surrogate-Key, " ", "|") + "|";
	return (deliver);
}

sub vcl_backend_error {
	if (bereq.retries == 0) {
		return (retry);
	}
	set beresp.ttl = 0s;
	set beresp.grace = 0s;
	set beresp.status = 502;
	set beresp.http.Content-Type = "application/json";
	set beresp.http.Cache-Control = "no-store";
	set beresp.http.Retry-After = "5";
	set beresp.http.Access-Control-Allow-Origin = "*";
	synthetic("""{"detail":"No replica of the service can be reached; try again after Retry-After"}""");
	return (deliver);
}

sub vcl_deliver {
	if (resp.status >= 500 && req.http.X-Edge-Try == "fresh") {
		set req.http.X-Edge-Try = "stale";
		return (restart);
	}
	if (req.http.X-Edge-Cache != "BYPASS") {
		set resp.http.Accept-Ranges = "none";
	}
	set resp.http.X-Cache = req.http.X-Edge-Cache;
	unset resp.http.X-Edge-Keys;
	unset resp.http.X-Edge-Stale;
	unset resp.http.X-Varnish;
	unset resp.http.Via;
	return (deliver);
}
